// SPDX-License-Identifier: MIT
import Foundation

/// The processor time of this thread, which doesn't depend on what else the machine does.
package var threadTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
