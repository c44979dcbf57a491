// SPDX-License-Identifier: MIT

// The targets of this module are generated while it is built. SwiftPM needs one file that is not.
