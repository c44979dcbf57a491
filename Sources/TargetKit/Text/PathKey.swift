// SPDX-License-Identifier: MIT

/// A name or an array index in a coding path.
struct PathKey: CodingKey {
    let stringValue: String
    var intValue: Int?

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }

    init(_ index: Int) { (stringValue, intValue) = ("\(index)", index) }
    init?(intValue: Int) { self.init(intValue) }
}
