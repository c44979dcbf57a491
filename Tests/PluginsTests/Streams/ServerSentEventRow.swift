// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import Testing

/// An event stream and the events that are in it.
struct ServerSentEventRow: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: Data
    let events: [ServerSentEvent]

    init(_ name: String, _ text: String, _ events: ServerSentEvent...) {
        self.name = name
        bytes = Data(text.utf8)
        self.events = events
    }

    init(_ name: String, bytes: [UInt8], _ events: ServerSentEvent...) {
        self.name = name
        self.bytes = Data(bytes)
        self.events = events
    }

    var testDescription: String { name }
}

extension ServerSentEvent {
    fileprivate static func data(
        _ data: String,
        id: String? = nil,
        event: String = "message",
        retry: Int? = nil
    ) -> Self {
        Self(id: id, event: event, data: data, retry: retry.map { .milliseconds($0) })
    }
}

extension ServerSentEventRow {
    static let all = exampleRows + publishedRows + lineRows + fieldRows

    /// The examples of the HTML standard, §9.2.1 and §9.2.6.
    private static let exampleRows: [Self] = [
        Self(
            "standard: messages",
            "data: first\n\ndata: second, it\ndata: has two lines.\n\ndata: third\n\n",
            .data("first"),
            .data("second, it\nhas two lines."),
            .data("third")
        ),
        Self(
            "standard: types",
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
            .data("73857293", event: "add"),
            .data("2153", event: "remove")
        ),
        Self("standard: stocks", "data: YHOO\ndata: +2\ndata: 10\n\n", .data("YHOO\n+2\n10")),
        Self(
            "standard: four blocks",
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            .data("first event", id: "1"),
            .data("second event"),
            .data(" third event")
        ),
        Self("standard: the end of the stream", "data\n\ndata\ndata\n\ndata:", .data(""), .data("\n")),
        Self("standard: one space is dropped", "data:test\n\ndata: test\n\n", .data("test"), .data("test")),
    ]

    /// What the web-platform-tests' `eventsource` cases of these names ask for.
    private static let publishedRows: [Self] = [
        Self("format-bom", "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n\n", .data("1"), .data("3")),
        Self("format-bom-2", "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n\n", .data("2"), .data("3")),
        Self(
            "format-comments",
            "data:1\r:\0\n:\r\ndata:2\n:\(long)\rdata:3\n:data:fail\r:\(long)\ndata:4\n\n",
            .data("1\n2\n3\n4")
        ),
        Self(
            "format-data-before-final-empty-line",
            "retry:1000\ndata:test1\n\nid:test\ndata:test2\n",
            .data("test1", retry: 1000)
        ),
        Self(
            "format-field-data",
            "data:\n\ndata\ndata\n\ndata:test\n\n\n",
            .data(""),
            .data("\n"),
            .data("test")
        ),
        Self("format-field-event", "event:test\ndata:x\n\ndata:x\n\n\n", .data("x", event: "test"), .data("x")),
        Self("format-field-event-empty", "event: \ndata:data\n\n\n", .data("data")),
        Self("format-field-id", "id: …\nretry: 200\ndata: hello\n\n", .data("hello", id: "…", retry: 200)),
        Self(
            "format-field-id-3, persists",
            "id: 1\ndata: 1\n\ndata: 2\n\nid: 2\ndata: 3\n\ndata: 4\n\n",
            .data("1", id: "1"),
            .data("2", id: "1"),
            .data("3", id: "2"),
            .data("4", id: "2")
        ),
        Self(
            "format-field-id-3, resets",
            "id: 1\ndata: 1\n\nid:\ndata:2\n\ndata:3\n\n",
            .data("1", id: "1"),
            .data("2"),
            .data("3")
        ),
        Self(
            "format-field-id-3, resets without colon",
            "id: 1\ndata: 1\n\nid\ndata:2\n\ndata:3\n\n",
            .data("1", id: "1"),
            .data("2"),
            .data("3")
        ),
        Self("format-field-id-null", "id: \0\0\ndata: hello\n\n", .data("hello")),
        Self("format-field-id-null, behind", "id: x\0\ndata: hello\n\n", .data("hello")),
        Self("format-field-id-null, before", "id: \0x\ndata: hello\n\n", .data("hello")),
        Self("format-field-id-null, between", "id: x\0x\ndata: hello\n\n", .data("hello")),
        Self("format-field-id-null, after a space", "id:  \0\ndata: hello\n\n", .data("hello")),
        Self(
            "format-field-parsing",
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\n"
                + "data:4\n\n",
            .data("\0\n 2\n1\n3\n\n4")
        ),
        Self("format-field-retry", "retry:03000\ndata:x\n\n\n", .data("x", retry: 3000)),
        Self("format-field-retry-bogus", "retry:3000\nretry:1000x\ndata:x\n\n\n", .data("x", retry: 3000)),
        Self("format-field-retry-empty", "retry\ndata:test\n\n\n", .data("test")),
        Self(
            "format-field-unknown",
            "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n\n",
            .data("test\n\ntest")
        ),
        Self("format-leading-space", "data:\ttest\rdata: \ndata:test\n\n\n", .data("\ttest\n\ntest")),
        Self("format-newlines", "data:test\r\ndata\ndata:test\r\n\r\n", .data("test\n\ntest")),
        Self("format-null-character", "data:\0\n\n\n", .data("\0")),
        Self("format-utf-8", "data:ok…\n\n\n", .data("ok…")),
        Self(
            "event-data",
            "data:msg\ndata: msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\ndata:end\n\n",
            .data("msg\nmsg"),
            .data(""),
            .data("end")
        ),
    ]

    private static let long = String(repeating: "x", count: 64)

    private static let lineRows: [Self] = [
        Self("no bytes", ""),
        Self("nothing but a byte order mark", "\u{FEFF}"),
        Self("a byte order mark and an empty line", "\u{FEFF}\n\n"),
        Self("empty lines", "\n\r\n\r\n\n"),
        Self("comments that keep the connection open", ":\n\n:\n\n: ping\n\n"),
        Self("CR", "data:a\r\rdata:b\r\r", .data("a"), .data("b")),
        Self("CR LF", "data:a\r\n\r\ndata:b\r\n\r\n", .data("a"), .data("b")),
        Self("ends of lines mixed", "data:a\r\n\rdata:b\n\r\ndata:c\r\n\n", .data("a"), .data("b"), .data("c")),
        Self("an end of line is one thing", "data:a\r\ndata:b\r\n\r\n", .data("a\nb")),
        Self("what ends no line", "data:a\u{2028}b\u{85}c\u{0B}d\u{0C}e\n\n", .data("a\u{2028}b\u{85}c\u{0B}d\u{0C}e")),
        Self("bytes that are not UTF-8", bytes: Array("data:a".utf8) + [0xFF, 0x0A, 0x0A], .data("a\u{FFFD}")),
        Self("a character cut off", bytes: Array("data:".utf8) + [0xE2, 0x82, 0x0A, 0x0A], .data("\u{FFFD}")),
        Self("a byte order mark in the data", "data:\u{FEFF}x\n\n", .data("\u{FEFF}x")),
        Self("characters of several bytes", "event:é\ndata:👩‍👩‍👧\n\n", .data("👩‍👩‍👧", event: "é")),
    ]

    private static let fieldRows: [Self] = [
        Self("no data, no event", "event:a\nretry:1\n\n"),
        Self("an identifier without data stays", "id:7\n\ndata:x\n\n", .data("x", id: "7")),
        Self("a type without data does not stay", "event:a\n\ndata:x\n\n", .data("x")),
        Self("a time without data is of no event", "retry:5\n\ndata:x\n\n", .data("x")),
        Self("an identifier with NUL changes nothing", "id:1\nid:\0\ndata:x\n\n", .data("x", id: "1")),
        Self("the last one counts", "event:a\nevent:b\nid:1\nid:2\ndata:x\n\n", .data("x", id: "2", event: "b")),
        Self("an empty type takes the type back", "event:a\nevent\ndata:x\n\n", .data("x")),
        Self("space behind", "id: a b \nevent: c \ndata: d \n\n", .data("d ", id: "a b ", event: "c ")),
        Self("colons", "data:a:b\ndata::\n\n", .data("a:b\n:")),
        Self("other names", "Data:a\ndata :b\n data:c\ndatas:d\ndat:e\nEVENT:f\nID:1\ndata:x\n\n", .data("x")),
        Self("retry with a space", "retry: 10\ndata:x\n\n", .data("x", retry: 10)),
        Self("retry with a space behind", "retry:10 \ndata:x\n\n", .data("x")),
        Self("retry below zero", "retry:-1\ndata:x\n\n", .data("x")),
        Self("retry with a fraction", "retry:1.5\ndata:x\n\n", .data("x")),
        Self("retry in other digits", "retry:٣\ndata:x\n\n", .data("x")),
        Self("retry of zero", "retry:0\ndata:x\n\n", .data("x", retry: 0)),
        Self("retry beyond every clock", "retry:99999999999999999999\ndata:x\n\n", .data("x", retry: 2_147_483_647)),
    ]
}
