// SPDX-License-Identifier: MIT
import TargetKit

extension NetworkLoggerPlugin {
    /// What seldom needs changing.
    public struct Options: Sendable {
        /// What is not shown; default: ``LogRedaction/standard``.
        public var redaction: LogRedaction
        /// How many bytes of a body are shown; default 4096. A longer one is cut off, and its size is said.
        public var bodyLimit: Int
        /// What durations are measured by; default the continuous clock, which does not jump.
        public var clock: any Clock<Duration>
        /// Whether anybody listens, asked at each hook; default: always. Nothing is built while nobody does.
        public var isEnabled: @Sendable () -> Bool

        /// Options; secrets redacted, 4096 bytes of a body, always enabled, unless told.
        public init(
            redaction: LogRedaction = .standard,
            bodyLimit: Int = 4096,
            clock: any Clock<Duration> = ContinuousClock(),
            isEnabled: @escaping @Sendable () -> Bool = { true }
        ) {
            self.redaction = redaction
            self.bodyLimit = bodyLimit
            self.clock = clock
            self.isEnabled = isEnabled
        }
    }
}
