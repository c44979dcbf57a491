// SPDX-License-Identifier: MIT
import _TargetKitSupport

extension FileStatus {
    /// The time when the contents were last changed, in seconds since 1970.
    package var modificationTime: Double {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
