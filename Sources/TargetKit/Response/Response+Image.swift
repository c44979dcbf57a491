// SPDX-License-Identifier: MIT

#if canImport(UIKit)
import UIKit

/// The system's image: `UIImage`.
public typealias ResponseImage = UIImage
#elseif canImport(AppKit)
import AppKit

/// The system's image: `NSImage`.
public typealias ResponseImage = NSImage
#endif

#if canImport(UIKit) || canImport(AppKit)
extension Response {
    /// The image in the body, or in ``file``.
    ///
    /// - Throws: ``TargetKitError`` of stage `.decoding` if the system doesn't support the image's format.
    public func image() throws(TargetKitError) -> ResponseImage {
        let image = file.map { ResponseImage(contentsOfFile: $0.path) } ?? ResponseImage(data: data)
        guard let image else {
            let context = DecodingError.Context(
                codingPath: [],
                debugDescription: "The data isn't in a supported image format."
            )
            throw decodingError(DecodingError.dataCorrupted(context))
        }
        return image
    }
}
#endif
