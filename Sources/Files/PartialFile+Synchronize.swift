// SPDX-License-Identifier: MIT
import _TargetKitSupport

extension PartialFile {
    /// Flushes the file to permanent storage.
    package func synchronize() throws(URLError) {
        guard Self.synchronize(descriptor) else { throw Self.failure(.cannotWriteToFile, url: url) }
    }

    /// Flushes a file or folder to permanent storage; returns `false` on failure, with the reason in `errno`.
    ///
    /// On Apple platforms, `fsync` leaves the data in the drive's cache, which is lost on a power failure (fsync(2));
    /// `F_FULLFSYNC` also flushes the cache. Network volumes and some external volumes support only `fsync`.
    package static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }
}
