// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A language that the demo speaks.
enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case simplifiedChinese = "zh-Hans"
}

/// A sentence in each language.
struct Phrase: Sendable {
    let english: String
    let chinese: String

    init(_ english: String, _ chinese: String) {
        self.english = english
        self.chinese = chinese
    }

    /// What reads the same in each language: a name, a number, a line of a log.
    init(same text: String) {
        self.init(text, text)
    }

    /// The sentence about an error.
    init(_ error: any Error) {
        if let error = error as? TargetKitError {
            self.init(error.text(in: .english), error.text(in: .simplifiedChinese))
        } else {
            self.init(same: "\(error)")
        }
    }

    func text(in language: Language) -> String {
        switch language {
        case .english: english
        case .simplifiedChinese: chinese
        }
    }
}
