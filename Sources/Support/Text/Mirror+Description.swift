// SPDX-License-Identifier: MIT

extension Mirror {
    /// Reflects only a description. Compiled once, not for each type.
    package init(_ subject: Any, describedBy description: String) {
        self.init(subject, children: ["description": description])
    }
}
