// SPDX-License-Identifier: MIT

extension Mirror {
    /// Creates a mirror that reflects only the description, so that `dump` reveals no secret that the description
    /// omits.
    package init(describing subject: some CustomStringConvertible) {
        self.init(subject, children: ["description": subject.description])
    }
}
