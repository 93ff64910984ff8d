import { describe, expect, test } from "vitest"
import { rewriteHTML, rewriteURL } from "./rewrite.ts"

const place = { prefix: "/p/proxy", hosts: ["10.0.0.1:80", "gateway"] }

describe("rewriteURL()", () => {
  test.each([
    ["/a", "/p/proxy/a"],
    ["/", "/p/proxy/"],
    ["/a?b=/c#d", "/p/proxy/a?b=/c#d"],
    ["a/b", "a/b"],
    ["#here", "#here"],
    ["", ""],
    ["http://10.0.0.1:80/x", "/p/proxy/x"],
    ["https://gateway/x", "/p/proxy/x"],
    ["https://elsewhere/x", "https://elsewhere/x"],
    ["//elsewhere/x", "//elsewhere/x"],
    ["/p/proxy/x", "/p/proxy/x"],
    ["mailto:a@b", "mailto:a@b"],
    ["javascript:alert(1)", "javascript:alert(1)"],
  ])("%s", (url, expected) => {
    expect(rewriteURL(url, place)).toBe(expected)
  })
})

describe("rewriteHTML()", () => {
  /** The result, and how often it yielded. */
  function rewritten(html: string): { text: string; turns: number } {
    const steps = rewriteHTML(html, place)
    for (let turns = 0; ; turns++) {
      const { done, value } = steps.next()
      if (done === true) return { text: value, turns }
    }
  }

  test.each([
    ['<a href="/x">t</a>', '<a href="/p/proxy/x">t</a>'],
    ["<A HREF='/x'>t</A>", "<A HREF='/p/proxy/x'>t</A>"],
    ["<img src=/x alt=/y>", "<img src=/p/proxy/x alt=/y>"],
    ['<a title="/x" href="/y" data-href="/z">', '<a title="/x" href="/p/proxy/y" data-href="/z">'],
    ['<!-- <a href="/x"> --><a href="/y">', '<!-- <a href="/x"> --><a href="/p/proxy/y">'],
    [
      '<script src="/s">"<a href=\'/x\'>"</script><a href="/y">',
      '<script src="/p/proxy/s">"<a href=\'/x\'>"</script><a href="/p/proxy/y">',
    ],
    ['<p>a < b and c="/x"</p>', '<p>a < b and c="/x"</p>'],
    ['<a href="/x"', '<a href="/p/proxy/x"'],
    ["<a href=>", "<a href=>"],
    ["no markup", "no markup"],
  ])("%s", (html, expected) => {
    expect(rewritten(html).text).toBe(expected)
  })

  test("takes linear time for any input, and yields regularly", () => {
    const pieces = ["<a ", "<", "<a href=", '<a "', "<script>", "<style></STYLE>", "<!--", "<a\t=", "<a a=b ", "<a/>"]
    for (const piece of pieces) rewritten(piece.repeat(200_000))
    for (const piece of ["<a href=x>", "b=c "])
      expect(rewritten(`<a ${piece.repeat(100_000)}`).turns).toBeGreaterThan(99)
  }, 10_000)

  test("finds end tags in any case after characters whose length depends on the case", () => {
    expect(rewritten('<title>İ<a href="/x"></TITLE><a href="/y">').text).toBe(
      '<title>İ<a href="/x"></TITLE><a href="/p/proxy/y">',
    )
  })
})
