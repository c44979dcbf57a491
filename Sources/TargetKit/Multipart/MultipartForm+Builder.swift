// SPDX-License-Identifier: MIT

extension MultipartForm {
    /// A form of the parts that the closure lists, with `if`, `switch` and `for` where they are needed.
    ///
    /// - Parameters:
    ///   - boundary: as in ``init(parts:boundary:)``; default: a random one.
    ///   - parts: lists the parts, in the order in which they are sent.
    public init(boundary: String? = nil, @Builder _ parts: () throws -> [Part]) rethrows {
        try self.init(parts: parts(), boundary: boundary)
    }

    /// Collects the parts of a closure.
    @resultBuilder
    public enum Builder: Sendable {
        /// One part.
        public static func buildExpression(_ part: Part) -> [Part] { [part] }
        /// Several parts.
        public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
        /// The statements of a block, in order.
        public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
        /// An `if` without `else`.
        public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
        /// The first branch of an `if` or `switch`.
        public static func buildEither(first parts: [Part]) -> [Part] { parts }
        /// Another branch of an `if` or `switch`.
        public static func buildEither(second parts: [Part]) -> [Part] { parts }
        /// A `for` loop.
        public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
    }
}
