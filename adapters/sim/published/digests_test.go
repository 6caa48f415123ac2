package published_test

// slice are the digests of the slice, on 100 nodes.
func slice() map[string]string {
	return map[string]string{
		"clwl":            "211a348387ba155e049b53f3a4366a96a921d361a3ffbd37dd3f8cf49a4b10bd",
		"dlwl":            "dc5804a04e9b6f6cd8f27e6d3aad3bf7a869ace734f816d01ba2d8e5d6399afc",
		"eagle":           "3a1b2840b78322270c2841f99c63aeeb1e6f05dd3af02fccef7a317eb0917b70",
		"eagle-nomin":     "bb12170068af763ed83970d6a0de0eafe58038c0a0fd2ce7cf8bbbb15fcb838e",
		"eagle-nosbp":     "a76fbe7bc125978a7f2fdc4342d87e3c8e67e379ba3b4226374acfb2a5ee3f52",
		"eagle-nosbpsrpt": "3ce0cf0af3b00bb9cfcb962bf7b8f8916b6adeb6cf685b27ac983dc2b7af5907",
		"eagle-nosrpt":    "dde2801405f518ceec5faa7a17296fb8e4dea8db3ea3ade53faab8e7f7e1c533",
		"eagle-nosss":     "51753c084c8957312d3ad4d136518289689c9fc6ec502a4d0fd9a7dde695cf64",
		"hawk":            "7865f02851887a9d8e6d12a6de056337c51c1897862a9fa8a74564d66f77848b",
		"ideal-eagle":     "580404aa47fea737c4902e77f899e65719c398e53a6c5e29aafe7ac41baaee32",
		"sparrow":         "db0fd6b457a92510c5b8fbbf5a463981e6e7473a290afe902185dd29ed0a2ac0",
	}
}
