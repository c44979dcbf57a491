// SPDX-License-Identifier: MIT

/// The transport that a provider uses unless it is given another: libcurl's on Linux, URLSession's on Apple's systems.
public enum SystemTransport {
    /// The one instance that all providers share, and with it its kept-alive connections.
    public static var shared: any Transport {
        #if canImport(CTargetKitCurl)
        CurlTransport.shared
        #else
        URLSessionTransport.shared
        #endif
    }
}
