// SPDX-License-Identifier: MIT

/// Performs a call that consists of several requests, such as a resumable upload or an S3 multipart upload.
///
/// A task carries its driver (``HTTPTask/driver(_:)``). Without one, a call sends its request once.
///
/// ```swift
/// struct Polling: TransferDriver {
///     func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
///         var response = try await exchanges.send(request)
///         while response.statusCode == 202, let location = response.headers[.location].flatMap(URL.init) {
///             response = try await exchanges.send(URLRequest(url: location), body: .none)
///         }
///         return response
///     }
/// }
/// ```
///
/// The provider calls the driver once for each attempt. To keep a value for the next attempt, store it in the context:
/// `exchanges.context[Key.self]`. If the driver rethrows an error of ``CallExchanges/send(_:)``, the attempt fails and
/// plugins can request another. Any other error ends the call with stage `.request`.
public protocol TransferDriver: Sendable {
    /// Returns the response of the call.
    ///
    /// - Parameters:
    ///   - request: The request of the endpoint, before the plugins' `prepare`.
    ///   - exchanges: Sends requests.
    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response

    /// Called once after the last attempt, before the plugins' `process`. Default: does nothing.
    ///
    /// For example, a driver can delete the server's data of a failed transfer. The call may be cancelled, so send
    /// requests with ``CallExchanges/sendInBackground(_:)-(URLRequest)``.
    func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async
}

extension TransferDriver {
    /// Does nothing.
    public func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {}
}

/// A driver's report about a transfer, for plugins that retry.
public struct TransferState: Sendable, Hashable {
    /// Whether a retry is safe even if the server processed the last request; `nil` if that depends on the request.
    public var isRepeatable: Bool?
    /// The number of bytes that another attempt doesn't transfer again; `nil` if it starts over.
    public var continuedByteCount: Int64?
    /// The reason why bytes that an earlier attempt or call stored aren't continued, in one line without secrets; `nil`
    /// if they are, or there are none.
    public var dropReason: String?

    /// Creates a state.
    public init(isRepeatable: Bool? = nil, continuedByteCount: Int64? = nil, dropReason: String? = nil) {
        self.isRepeatable = isRepeatable
        self.continuedByteCount = continuedByteCount
        self.dropReason = dropReason
    }
}

extension RequestContext {
    /// The state of the transfer; `nil` without a driver, or if the driver didn't report one.
    public var transfer: TransferState? {
        get { self[TransferStateKey.self] }
        nonmutating set { self[TransferStateKey.self] = newValue }
    }
}

private enum TransferStateKey: RequestContextKey { typealias Value = TransferState }
