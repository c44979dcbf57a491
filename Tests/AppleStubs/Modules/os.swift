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
