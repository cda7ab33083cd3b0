/** The words of the demo data. */

/** Anonymous callers see the first one. */
export const NEWSROOMS = [
  { name: 'Harbour Courier', slug: 'harbour-courier', city: 'Osterhaven', share: 8 },
  { name: 'Alpine Weekly', slug: 'alpine-weekly', city: 'Sankt Vinzenz', share: 5 },
  { name: 'Metro Desk', slug: 'metro-desk', city: 'Kingsbridge', share: 4 },
  { name: 'Field Notes', slug: 'field-notes', city: 'Lower Marsh', share: 3 },
] as const

export const FIRST_NAMES = [
  'Ada', 'Björn', 'Carla', 'Dario', 'Elif', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas',
  'Kaya', 'Levi', 'Mira', 'Noor', 'Otto', 'Paula', 'Quentin', 'Rosa', 'Sami', 'Tove',
]

export const LAST_NAMES = [
  'Almeida', 'Brandt', 'Castellan', 'Dvořák', 'Eriksen', 'Fontaine', 'Grün', 'Hartwell', 'Ivers', 'Jansson',
  'Kowalski', 'Lindqvist', 'Moreau', 'Nakamura', 'Okafor', 'Petersen', 'Quist', 'Rossi', 'Sørensen', 'Thorne',
]

export const ACTORS = [
  'city council', 'harbour authority', 'university hospital', 'fire brigade', 'public library', 'football club',
  'chamber of commerce', 'municipal theatre', 'botanical garden', 'planning office', 'tenants’ association', 'school board',
]

export const ACTIONS = ['approves', 'postpones', 'defends', 'reviews', 'celebrates', 'questions', 'tests', 'renews', 'funds', 'rejects']

export const MATTERS = [
  'the new tram line', 'the night bus', 'the flood wall', 'the winter programme', 'the solar roofs', 'the bicycle bridge',
  'the old brewery', 'the youth centre', 'the repair café', 'the budget for next year', 'the weekly market', 'the open archive',
]

export const PLACES = [
  'Northgate', 'Old Town', 'Riverside', 'Mill Lane', 'Castle Hill', 'Saint Mary’s', 'the East End', 'the railway yards',
  'the university quarter', 'the fishing port',
]

export const SENTENCES = [
  'The decision came late in the evening, after four hours of debate.',
  'Residents had collected more than two thousand signatures.',
  'According to the figures published on Monday, the costs have risen by a third.',
  '“We have waited for this for ten years,” said a spokeswoman.',
  'Critics point out that the traffic study is still missing.',
  'Work is to begin in spring and to last eighteen months.',
  'The neighbouring towns are watching closely.',
  'Nobody at the meeting wanted to name a date.',
  'A first test last autumn had gone better than expected.',
  'The money comes from a regional fund and has to be spent by the end of next year.',
  'Two of the five parties abstained.',
  'The plans can be seen at the town hall until the end of the month.',
]

export const REMARKS = [
  'Thank you for staying on this story.',
  'I was at the meeting and remember it differently.',
  'Where can the plans be seen?',
  'About time!',
  'Who is going to pay for that?',
  'My street has been closed for weeks, and no word about it here.',
  'Very well researched.',
  'A map would have helped.',
  'The figures do not add up.',
  'Finally some good news.',
  'Please ask the tenants as well.',
  'I disagree, but it is a fair summary.',
]

export const TOPICS = [
  'Politics', 'Transport', 'Housing', 'Culture', 'Sport', 'Schools', 'Health', 'Climate', 'Business', 'Food',
  'Science', 'History', 'Opinion', 'Interview', 'Weekend',
]
