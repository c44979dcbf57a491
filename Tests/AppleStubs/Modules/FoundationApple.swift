// SPDX-License-Identifier: MIT
// swift-format-ignore-file
// Declarations that only Apple's Foundation has; imported everywhere, as if they were part of Foundation.
@_exported import Darwin
@_exported import Foundation
@_exported import FoundationURLLoading

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv10 = 0x0301
    case TLSv11 = 0x0302
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
}

extension URLSessionConfiguration {
    @available(macOS 10.10, iOS 8, tvOS 9, watchOS 2, *)
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }

    @available(macOS 10.10, iOS 8, tvOS 9, watchOS 2, *)
    public var sharedContainerIdentifier: String? {
        get { nil }
        set {}
    }

    @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { .TLSv12 }
        set {}
    }
}

extension FileManager {
    @available(macOS 10.8, iOS 7, tvOS 9, watchOS 2, *)
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

extension URLRequest {
    @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }

    @available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }

    @available(macOS 11.3, iOS 14.5, tvOS 14.5, watchOS 7.4, *)
    public var assumesHTTP3Capable: Bool {
        get { false }
        set {}
    }
}

@available(macOS 10.6, iOS 3, tvOS 9, watchOS 2, *)
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
@available(macOS 10.6, iOS 3, tvOS 9, watchOS 2, *)
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
@available(macOS 10.5, iOS 2, tvOS 9, watchOS 2, *)
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"
@available(macOS 10.5, iOS 2, tvOS 9, watchOS 2, *)
public let NSURLAuthenticationMethodNegotiate = "NSURLAuthenticationMethodNegotiate"

@available(macOS 10.9, iOS 7, tvOS 9, watchOS 2, *)
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
