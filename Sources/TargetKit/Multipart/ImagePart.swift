// SPDX-License-Identifier: MIT
import Foundation

/// An image for a form, with the names that most upload endpoints for pictures ask for.
public struct ImagePart: Sendable, Hashable {
    /// The image's bytes, already in the format that ``mimeType`` says.
    public var data: Data
    /// The field's name; default: `photo`.
    public var name: String
    /// The file name that the server is told; default: `photo.jpg`.
    public var fileName: String
    /// The image's type; default: `image/jpeg`.
    public var mimeType: String

    /// An image with those names.
    public init(
        _ data: Data,
        name: String = "photo",
        fileName: String = "photo.jpg",
        mimeType: String = "image/jpeg"
    ) {
        self.data = data
        self.name = name
        self.fileName = fileName
        self.mimeType = mimeType
    }

    /// The image as a part of a form.
    public var part: MultipartForm.Part {
        .data(data, name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Several images, each with its place, from 0, in its names.
    ///
    /// - Parameters:
    ///   - images: the images in order.
    ///   - name: the fields' name, with `{i}` where the place goes; default: `file{i}`, so `file0`, `file1`, ….
    ///   - fileName: the file name, with `{i}` where the place goes; default: `file{i}.jpg`.
    ///   - mimeType: the type of all of them; default: `image/jpeg`.
    public static func numbered(
        _ images: [Data],
        name: String = "file{i}",
        fileName: String = "file{i}.jpg",
        mimeType: String = "image/jpeg"
    ) -> [ImagePart] {
        images.enumerated().map { index, data in
            ImagePart(
                data,
                name: name.replacingOccurrences(of: "{i}", with: String(index)),
                fileName: fileName.replacingOccurrences(of: "{i}", with: String(index)),
                mimeType: mimeType
            )
        }
    }
}

extension MultipartForm.Part {
    /// An image in memory: ``ImagePart`` as a part.
    public static func image(
        _ data: Data,
        name: String = "photo",
        fileName: String = "photo.jpg",
        mimeType: String = "image/jpeg"
    ) -> Self {
        ImagePart(data, name: name, fileName: fileName, mimeType: mimeType).part
    }
}

extension [MultipartForm.Part] {
    /// Several images, named as ``ImagePart/numbered(_:name:fileName:mimeType:)`` names them: `file0`, `file1`, ….
    public static func images(
        _ images: [Data],
        name: String = "file{i}",
        fileName: String = "file{i}.jpg",
        mimeType: String = "image/jpeg"
    ) -> Self {
        ImagePart.numbered(images, name: name, fileName: fileName, mimeType: mimeType).map(\.part)
    }
}

extension ImagePart: CustomStringConvertible, CustomReflectable {
    /// The name, type and size.
    public var description: String { "\(name.debugDescription), \(mimeType), \(data.count) bytes" }

    /// Reflects only the description, so `dump` omits the bytes.
    public var customMirror: Mirror { Mirror(describing: self) }
}
