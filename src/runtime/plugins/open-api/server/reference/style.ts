/** The style of the reference page. */
export const STYLE = `
:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 20%,transparent)}
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:minmax(14rem,20rem) minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line)}
nav ul{list-style:none;margin:0;padding:0 0 0 .5rem}
nav summary{font-weight:600;cursor:pointer}
nav b{font-size:.75rem}
main{padding:1rem 2rem;max-width:70rem}
article{border-top:1px solid var(--line);padding:.5rem 0 1rem}
h3 a{color:inherit;text-decoration:none}
h4{margin:1rem 0 .25rem}
a{overflow-wrap:anywhere}
code{font:.875em ui-monospace,monospace;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid var(--line)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1rem;margin:.25rem 0}
dd{margin:0}
.wide{overflow-x:auto}
:target{scroll-margin-top:1rem;outline:2px solid var(--line);outline-offset:.5rem}
@media(max-width:50rem){
body{display:block}
nav{position:static;height:auto;max-height:40vh;border-right:0;border-bottom:1px solid var(--line)}
main{padding:1rem}
}
`
