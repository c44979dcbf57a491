// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import TargetKit

/// The `URLError` for an error of the client; others, such as that of a body source, stay as they are.
func urlError(for error: any Error) -> any Error {
    let code: URLError.Code? =
        switch error {
        case let error as HTTPClientError: code(of: error)
        case let error as NIOConnectionError: error.connectionErrors.isEmpty ? .cannotFindHost : .cannotConnectToHost
        case let error as IOError: error.errnoCode == ECONNREFUSED ? .cannotConnectToHost : .networkConnectionLost
        case is ChannelError: .networkConnectionLost
        case let error as HTTPParserError: error == .invalidEOFState ? .networkConnectionLost : .cannotParseResponse
        default: nil
        }
    return code.map { URLError($0, userInfo: [NSUnderlyingErrorKey: error]) } ?? error
}

private func code(of error: HTTPClientError) -> URLError.Code {
    switch error {
    case .remoteConnectionClosed: .networkConnectionLost
    case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout: .timedOut
    case .cancelled, .requestStreamCancelled: .cancelled
    case .invalidURL, .emptyHost, .emptyScheme: .badURL
    default: .unknown
    }
}
