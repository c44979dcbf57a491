// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

#if canImport(Glibc)
import CTargetKitSharedCurl
#endif

/// The installed libcurl.
enum CurlLibrary {
    /// Whether libcurl is initialized. The first access initializes it.
    static let isReady: Bool = {
        OpenSSL.keepDuringExit()
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// The version number; 0x075801 is 7.88.1.
    private static let number = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num ?? 0

    /// Whether libcurl reports when it starts to send a request.
    static let reportsSending = number >= 0x075000

    /// Whether libcurl delays the reset of an HTTP/2 stream until it next sends on the connection.
    static let delaysStreamResets = (0x075800..<0x080100).contains(number)

    /// Whether an entry for libcurl's cache of names can expire, by a plus sign before the name.
    static let expiresHostEntries = number >= 0x074B00

    /// Whether libcurl reports the GOAWAY frames that it receives.
    static let reportsGoAway = number >= 0x075800

    /// Whether libcurl's TLS writes without `MSG_NOSIGNAL`, which raises `SIGPIPE` on a closed connection.
    static let raisesBrokenPipes = number < 0x075700

    /// Whether libcurl appends a folded first line of a head to a field of the handle's previous response, whose memory
    /// it freed (curl/curl#11103). Watched by `CurlFaultTests.leadingFold`.
    static let foldsIntoFreedField = (0x075300..<0x080200).contains(number)

    static let userAgent = "TargetKit/\(PackageVersion.text) (libcurl)"
}

extension UnsafeMutableRawPointer {
    /// The object whose address libcurl passes to a callback.
    func object<Object: AnyObject>(_ type: Object.Type) -> Object {
        Unmanaged<Object>.fromOpaque(self).takeUnretainedValue()
    }
}

// MARK: - Broken pipes

extension CurlLibrary {
    /// Runs work of libcurl with `SIGPIPE` blocked on its thread.
    ///
    /// Threads that Dispatch starts, and new processes, inherit the calling thread's signal mask. Therefore, resume
    /// callers outside, or in ``withBrokenPipesUnblocked(if:_:)``.
    static func withBrokenPipesBlocked<Result>(
        if isNeeded: Bool = raisesBrokenPipes,
        work: () -> Result
    ) -> Result {
        isNeeded ? withBrokenPipes(SIG_BLOCK, work: work) : work()
    }

    /// Runs work of a libcurl callback with `SIGPIPE` unblocked.
    static func withBrokenPipesUnblocked<Result>(
        if isNeeded: Bool = raisesBrokenPipes,
        work: () -> Result
    ) -> Result {
        isNeeded ? withBrokenPipes(SIG_UNBLOCK, work: work) : work()
    }

    private static func withBrokenPipes<Result>(_ change: Int32, work: () -> Result) -> Result {
        let wasBlocked = areBrokenPipesBlocked(after: SIG_BLOCK)
        if change == SIG_UNBLOCK { _ = areBrokenPipesBlocked(after: SIG_UNBLOCK) }
        defer { _ = areBrokenPipesBlocked(after: wasBlocked ? SIG_BLOCK : SIG_UNBLOCK) }
        return work()
    }

    /// Blocks `SIGPIPE`, or unblocks it and discards signals that were raised while it was blocked. Returns whether it was
    /// blocked before.
    private static func areBrokenPipesBlocked(after change: Int32) -> Bool {
        var signals = sigset_t()
        var previous = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        if change == SIG_UNBLOCK {
            var noTime = timespec()
            while sigtimedwait(&signals, nil, &noTime) > 0 {}
        }
        pthread_sigmask(change, &signals, &previous)
        return sigismember(&previous, SIGPIPE) == 1
    }
}
#endif
