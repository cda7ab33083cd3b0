/** The page of the developer tools: an empty document that loads its script from Vite. */

/** @param script the URL of the script */
export const page = (script: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Auto API</title>
</head>
<body>
<div id="app"></div>
<script type="module" src="${script.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></script>
</body>
</html>
`
