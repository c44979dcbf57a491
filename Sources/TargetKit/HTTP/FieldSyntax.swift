// SPDX-License-Identifier: MIT

extension String {
    /// Whether it is a token: one or more `tchar` (RFC 9110 §5.6.2), as methods and the names of header fields are.
    package var isToken: Bool {
        !isEmpty && ASCIISet.token.containsAll(of: self)
    }

    /// Whether it holds a CR, LF or NUL (RFC 9110 §5.5), which would end a header field and begin another.
    package var endsHeaderField: Bool {
        utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }
}
