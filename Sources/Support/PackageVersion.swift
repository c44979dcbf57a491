// SPDX-License-Identifier: MIT

/// The version of the package, which `User-Agent` and HTTP Archives name. A test compares it with CHANGELOG.md.
package enum PackageVersion {
    package static let text = "0.1.0"
}
