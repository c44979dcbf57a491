// SPDX-License-Identifier: MIT
import TargetKit

extension URLRequest {
    nonisolated var assumesHTTP3Capable: Bool {
        get { false }
        set {}
    }
}
