// Environment variables of programs that tests start.

/**
 * Go collects garbage when the heap has doubled; a short-lived program such as kubectl starts with a small heap and spent a third
 * of its time on that.
 */
export const programsOfGo = { GOGC: "400" }
