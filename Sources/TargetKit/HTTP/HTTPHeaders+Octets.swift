// SPDX-License-Identifier: MIT

extension HTTPHeaders.Field {
    /// Creates a field with the octets of its value, for a transport.
    ///
    /// Octets that aren't UTF-8 are opaque (RFC 9110 §5.5). In ``value``, each is a character from U+F780 to U+F7FF, and a
    /// field with this value is sent with the same octets.
    public init(name: HTTPHeaderName, octets: some Collection<UInt8>) {
        self.init(name: name, value: FieldOctets.text(octets))
    }

    /// The octets of the value, which a transport sends: its UTF-8, with one octet for each character from U+F780 to
    /// U+F7FF.
    public var octets: [UInt8] { FieldOctets.octets(value) }
}

extension HTTPHeaders {
    /// The value of the field with a name for people, with octets that aren't UTF-8 read as ISO-8859-1; `nil` if there is
    /// none. Send the value of the subscript back, which retains the octets.
    public func text(for name: HTTPHeaderName) -> String? {
        self[name].map(FieldOctets.latin1)
    }
}
