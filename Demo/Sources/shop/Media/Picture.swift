// SPDX-License-Identifier: MIT
import Foundation

/// A picture as it is sent.
struct Picture: Sendable {
    let fileName: String
    let png: Data

    /// A cup of tea, 16 by 16 pixels, black and white.
    static let cup = Picture(
        fileName: "cup.png",
        png: Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAAMklEQVR42mP4/58BiL7dZ3i7H0QC2Qf4GQ5wMhxgYjjAx3CAl+EAO8MDeYYP\
                9iCpBkYAPk8UunU7/50AAAAASUVORK5CYII=
                """
        ) ?? Data()
    )
}

/// A picture as the server keeps it.
struct StoredPicture: Decodable, Sendable {
    let caption: String
    let fileName: String
    let contentType: String
    let bytes: Int
    let width: Int
    let height: Int
}
