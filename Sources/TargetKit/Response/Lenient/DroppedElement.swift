// SPDX-License-Identifier: MIT

/// An element that a lossy array or dictionary left out, and why.
public struct DroppedElement: Sendable {
    /// The element's index in the array, or its key in the object, as it was sent.
    public let position: String

    /// Why it did not decode: a `DecodingError` for most types.
    public let error: any Error

    /// An element that was left out.
    public init(position: String, error: any Error) {
        self.position = position
        self.error = error
    }
}
