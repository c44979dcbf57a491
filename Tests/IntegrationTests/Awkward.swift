// SPDX-License-Identifier: MIT

/// Texts that break what is not careful.
enum Awkward {
    /// One of each kind, with a plain name.
    static let texts = [
        "quotes": #"she said "tea", \ and left"#,
        "lines": "first\r\nsecond\nthird\rfourth",
        "emoji": "🫖 👩‍👩‍👧‍👦",
        "hanzi": "汉字",
        "marks": "a=b&c;d+e %20 ?/#[]{}|^`~!$'()*,:@<>",
        "controls": "tab\tbell\u{07}delete\u{7F}",
        "accents": "Crème brûlée, e\u{301}",
        "empty": "",
    ]

    /// Names that a form or a query has to carry: those texts, but for the empty one.
    static let names = texts.values.filter { !$0.isEmpty }.sorted()
}
