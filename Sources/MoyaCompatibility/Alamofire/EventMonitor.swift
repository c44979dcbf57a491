// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Receives the events of the requests of a ``Session``.
public protocol EventMonitor {
    /// The queue on which the methods are called; default: the main queue.
    var queue: DispatchQueue { get }

    /// Called with the request of each attempt, before it is sent.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)

    /// Called when a request starts, after ``request(_:didCreateURLRequest:)``.
    func requestDidResume(_ request: Request)

    /// Called when a cancelled request ends, before ``requestDidFinish(_:)``.
    func requestDidCancel(_ request: Request)

    /// Called when a request has ended. Its response and error are set.
    func requestDidFinish(_ request: Request)
}

extension EventMonitor {
    /// The main queue.
    public var queue: DispatchQueue { .main }
    /// Does nothing.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {}
    /// Does nothing.
    public func requestDidResume(_ request: Request) {}
    /// Does nothing.
    public func requestDidCancel(_ request: Request) {}
    /// Does nothing.
    public func requestDidFinish(_ request: Request) {}
}
