// What the environment of all tests says to the programs they start.

/**
 * Go collects garbage when its heap has doubled, and a program that lives for a moment, as kubectl does, begins with a small one: a
 * third of its time went there.
 */
export const programsOfGo = { GOGC: "400" }
