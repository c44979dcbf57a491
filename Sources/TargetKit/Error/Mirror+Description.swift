// SPDX-License-Identifier: MIT

extension Mirror {
    /// A mirror that shows the description and nothing else, so that `dump` has no secret that the description leaves out.
    package init(describing subject: some CustomStringConvertible) {
        self.init(subject, children: ["description": subject.description])
    }
}
