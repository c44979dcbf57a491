// SPDX-License-Identifier: MIT
import _TargetKitSupport

extension FileStatus {
    /// The time when the contents were last changed, in seconds since 1970.
    package var modificationTime: Double {
        #if canImport(Darwin)
        status.st_mtimespec.seconds
        #else
        status.st_mtim.seconds
        #endif
    }
}
