// SPDX-License-Identifier: MIT

/// The default transport: libcurl on Linux, URLSession on Apple platforms.
public enum SystemTransport {
    /// The instance that providers share by default, with its persistent connections.
    public static var shared: any Transport {
        #if os(Linux)
        CurlTransport.shared
        #else
        URLSessionTransport.shared
        #endif
    }
}
