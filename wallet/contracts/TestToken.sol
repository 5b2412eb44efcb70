// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A token for tests and demonstrations: the whole supply goes to whoever deploys it.
contract TestToken is ERC20 {
    uint8 private immutable tokenDecimals;

    constructor(string memory name_, string memory symbol_, uint8 decimals_, uint256 initialSupply) ERC20(name_, symbol_) {
        tokenDecimals = decimals_;
        _mint(msg.sender, initialSupply);
    }

    function decimals() public view override returns (uint8) {
        return tokenDecimals;
    }

    /// Pays several recipients in one transaction, so that it holds several Transfer logs.
    function transferMany(address[] calldata recipients, uint256[] calldata amounts) external {
        require(recipients.length == amounts.length, "as many recipients as amounts");
        for (uint256 i = 0; i < recipients.length; i++) {
            _transfer(msg.sender, recipients[i], amounts[i]);
        }
    }
}
