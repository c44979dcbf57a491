// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit

/// The values that the calls send: none of them easy.
enum Samples {
    /// One segment of a path, though it does not look like one.
    static let oddSegment = "a b?c=d&e#f;ü+100%"

    /// One value of each kind.
    static var parameters: [String: any Sendable] {
        [
            "text": "a b&c=d+e/ü€",
            "empty": "",
            "int": -7,
            "double": 0.5,
            "bool": true,
            "list": ["x", "y z"],
            "nested": ["key": "value"],
        ]
    }

    static let search = Search(q: "s & v", tags: ["green", "japan"], limit: 2)

    static let order = NewOrder(lines: [.init(product: "sencha", count: 2)], note: "“Ring” twice\nplease")

    /// Bytes that are no text.
    static let bytes = Data([0x00, 0xFF, 0x0D, 0x0A, 0x80])

    /// A text and a file, with a boundary that is the same each time, so that the whole request can be compared.
    static var form: MultipartForm {
        MultipartForm(
            parts: [
                .text("Thé à la menthe", name: "caption"),
                .file(fileURL, name: "notes"),
            ],
            boundary: "shop-boundary"
        )
    }

    static let fileText = "Two lines,\r\none of them German: Grüße\n"

    private static let fileURL = FileManager.default.temporaryDirectory.appending(path: "shop-notes.txt")

    /// Puts the file that ``form`` sends where it is looked for.
    static func writeFile() throws {
        try Data(fileText.utf8).write(to: fileURL)
    }

    static func removeFile() {
        try? FileManager.default.removeItem(at: fileURL)
    }
}
