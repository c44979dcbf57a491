// SPDX-License-Identifier: MIT

/// What a JSON text may be at most before it is refused.
public struct JSONParsingOptions: Sendable, Hashable {
    /// The deepest nesting that can be asked for: 1,000. A value nested deeper could exhaust the stack when it is freed.
    public static let deepest = 1_000

    /// How many arrays and objects may lie in each other. Default: 512, as deep as `JSONDecoder` goes; at most ``deepest``.
    public var maximumDepth: Int

    /// How long the text may be, in bytes. Default: `nil`, no limit.
    public var maximumSize: Int?

    /// Limits for a text.
    public init(maximumDepth: Int = 512, maximumSize: Int? = nil) {
        self.maximumDepth = maximumDepth
        self.maximumSize = maximumSize
    }
}
