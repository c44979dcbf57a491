// SPDX-License-Identifier: MIT
// swift-format-ignore-file

public struct compression_algorithm: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public struct compression_stream_operation: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public struct compression_stream_flags: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

public struct compression_status: RawRepresentable, Equatable, Sendable {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
}

public struct compression_stream {
    public var dst_ptr: UnsafeMutablePointer<UInt8>
    public var dst_size: Int
    public var src_ptr: UnsafePointer<UInt8>
    public var src_size: Int
    public var state: UnsafeMutableRawPointer?
}

public var COMPRESSION_ZLIB: compression_algorithm { fatalError() }
public var COMPRESSION_STREAM_ENCODE: compression_stream_operation { fatalError() }
public var COMPRESSION_STREAM_FINALIZE: compression_stream_flags { fatalError() }
public var COMPRESSION_STATUS_OK: compression_status { fatalError() }
public var COMPRESSION_STATUS_END: compression_status { fatalError() }

public func compression_decode_buffer(
    _ dst_buffer: UnsafeMutablePointer<UInt8>,
    _ dst_size: Int,
    _ src_buffer: UnsafePointer<UInt8>,
    _ src_size: Int,
    _ scratch_buffer: UnsafeMutableRawPointer?,
    _ algorithm: compression_algorithm
) -> Int { fatalError() }

@discardableResult
public func compression_stream_init(
    _ stream: UnsafeMutablePointer<compression_stream>,
    _ operation: compression_stream_operation,
    _ algorithm: compression_algorithm
) -> compression_status { fatalError() }

@discardableResult
public func compression_stream_process(
    _ stream: UnsafeMutablePointer<compression_stream>,
    _ flags: Int32
) -> compression_status { fatalError() }

@discardableResult
public func compression_stream_destroy(_ stream: UnsafeMutablePointer<compression_stream>) -> compression_status {
    fatalError()
}
