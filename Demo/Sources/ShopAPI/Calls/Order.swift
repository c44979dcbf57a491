// SPDX-License-Identifier: MIT
import TargetKit

/// An order as it is sent.
package struct NewOrder: ResponseModel, RequestModel {
    package struct Line: ResponseModel, RequestModel {
        package let product: String
        package let count: Int

        package init(product: String, count: Int) {
            (self.product, self.count) = (product, count)
        }
    }

    package let lines: [Line]
    package let note: String?

    package init(lines: [Line], note: String?) {
        (self.lines, self.note) = (lines, note)
    }
}

/// An order as the server stores it.
package struct Order: ResponseModel {
    package let number: Int
    package let cents: Int
}

/// The content of a report.
package struct OrderReport: ResponseModel {
    package let orders: Int
}
