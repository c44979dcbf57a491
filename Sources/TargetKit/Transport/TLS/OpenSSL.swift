// SPDX-License-Identifier: MIT
#if os(Linux)
/// The OpenSSL with which libcurl encrypts, for `CurlTransport` and `URLSession`.
enum OpenSSL {
    private typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32

    /// Prevents OpenSSL 1.1.1 and later from releasing its memory in `exit()`. Call it before libcurl is initialized.
    ///
    /// Other threads still use that memory, for calls in progress and when the threads end, so the process would end with
    /// `SIGSEGV` (OpenSSL 3.0.19; `ExitTests`). This has no effect if other code initialized OpenSSL before.
    static func keepDuringExit() {
        let noAtExit: UInt64 = 0x80000  // OPENSSL_INIT_NO_ATEXIT
        for name in ["libcrypto.so.3", "libcrypto.so.1.1"] {
            let initialize = LoadedLibrary(name)?.function("OPENSSL_init_crypto", type: Initialize.self)
            _ = initialize?(noAtExit, nil)
        }
    }
}
#endif
