// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation

@available(macOS 10.12, iOS 10, tvOS 10, watchOS 3, *)
open class OSLog: NSObject, @unchecked Sendable {
    @available(macOS 10.12, iOS 10, tvOS 10, watchOS 3, *)
    public convenience init(subsystem: String, category: String) { self.init() }
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public struct OSSignpostType: Sendable {
    public static let event = OSSignpostType()
    public static let begin = OSSignpostType()
    public static let end = OSSignpostType()
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public struct OSSignpostID: Sendable {
    public let rawValue: UInt64
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    public init(_ value: UInt64) { rawValue = value }
}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer = #dsohandle, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: any CVarArg...
) {}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    public init(uncheckedState initialState: State) {}
    public init(initialState: State) where State: Sendable {}
    public func withLock<R: Sendable>(_ body: @Sendable (inout State) throws -> R) rethrows -> R {
        try withUnsafeTemporaryAllocation(of: State.self, capacity: 1) { try body(&$0[0]) }
    }
    public func withLockUnchecked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        try withUnsafeTemporaryAllocation(of: State.self, capacity: 1) { try body(&$0[0]) }
    }
}

@available(macOS 10.12, iOS 10, tvOS 10, watchOS 3, *)
public struct OSLogType: Equatable, Sendable {
    public static let `default` = OSLogType()
    public static let info = OSLogType()
    public static let debug = OSLogType()
    public static let error = OSLogType()
    public static let fault = OSLogType()
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct OSLogPrivacy: Sendable {
    public static var auto: OSLogPrivacy { OSLogPrivacy() }
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
    public static var `private`: OSLogPrivacy { OSLogPrivacy() }
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) {}
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringInterpolation: OSLogInterpolation) {}
    public init(stringLiteral value: String) {}
}

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct Logger: Sendable {
    public init(subsystem: String, category: String) {}
    public func log(level: OSLogType, _ message: OSLogMessage) {}
}
