// SPDX-License-Identifier: MIT

/// A name or an array index in a coding path.
package struct PathKey: CodingKey {
    package let stringValue: String
    package private(set) var intValue: Int?

    package init(_ name: String) { stringValue = name }
    package init(stringValue: String) { self.init(stringValue) }

    package init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    package init?(intValue: Int) { self.init(intValue) }
}
