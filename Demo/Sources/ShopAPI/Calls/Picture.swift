// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A picture as it is sent.
package struct Picture: Sendable {
    package let fileName: String
    package let png: Data

    package init(fileName: String, png: Data) {
        (self.fileName, self.png) = (fileName, png)
    }

    /// A cup of tea, 16 by 16 pixels, black and white.
    package static let cup = Picture(
        fileName: "cup.png",
        png: Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAAMklEQVR42mP4/58BiL7dZ3i7H0QC2Qf4GQ5wMhxgYjjAx3CAl+EAO8MDeYYP\
                9iCpBkYAPk8UunU7/50AAAAASUVORK5CYII=
                """
        ) ?? Data()
    )
}

/// A picture as the server stores it.
package struct StoredPicture: ResponseModel {
    package let caption: String
    package let fileName: String
    package let contentType: String
    package let bytes: Int
    package let width: Int
    package let height: Int
}
