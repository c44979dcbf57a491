// SPDX-License-Identifier: MIT

/// Makes two of three requests fail, as a busy server does.
actor BusyCounter {
    private var count = 0

    /// Whether this request is served.
    func admits() -> Bool {
        count += 1
        return count.isMultiple(of: 3)
    }
}
