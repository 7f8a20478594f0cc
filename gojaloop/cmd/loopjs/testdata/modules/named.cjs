exports.z = 'z'
exports.__esModule = false
exports.a = [1]
