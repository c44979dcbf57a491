// SPDX-License-Identifier: MIT

/// What a JSON text may be at most before it is refused.
public struct JSONParsingOptions: Sendable, Hashable {
    /// The deepest nesting that can be asked for: 512, as deep as `JSONDecoder` goes. To compare, write or free a value goes
    /// down its levels on the thread's stack, which may be half a megabyte.
    public static let deepest = 512

    /// How many arrays and objects may lie in each other. Default, and at most: ``deepest``.
    public var maximumDepth: Int

    /// How long the text may be, in bytes. Default: `nil`, no limit.
    public var maximumSize: Int?

    /// Limits for a text.
    public init(maximumDepth: Int = deepest, maximumSize: Int? = nil) {
        self.maximumDepth = maximumDepth
        self.maximumSize = maximumSize
    }
}
