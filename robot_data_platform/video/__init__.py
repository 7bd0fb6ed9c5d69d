"""Video files in, independently decodable GOPs out, and pictures back; the only user of PyAV."""
