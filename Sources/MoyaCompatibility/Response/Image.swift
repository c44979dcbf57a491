// SPDX-License-Identifier: MIT

#if canImport(UIKit)
import UIKit

/// The system's image type.
public typealias ImageType = UIImage
#elseif canImport(AppKit)
import AppKit

/// The system's image type.
public typealias ImageType = NSImage
#endif

#if canImport(UIKit) || canImport(AppKit)
/// The system's image type.
public typealias Image = ImageType

extension Moya {
    /// ``TargetKitMoya/Image``.
    public typealias Image = TargetKitMoya.ImageType
    /// ``TargetKitMoya/ImageType``.
    public typealias ImageType = TargetKitMoya.ImageType
}

extension Response {
    /// Returns the image in the body.
    ///
    /// - Throws: ``MoyaError/imageMapping(_:)`` if the body isn't an image.
    public func mapImage() throws -> Image {
        guard let image = Image(data: data) else { throw MoyaError.imageMapping(self) }
        return image
    }
}
#endif
