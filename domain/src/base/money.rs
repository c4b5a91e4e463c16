//! Amounts of money in whole millionths of the currency unit of the prices, so that sums are exact.

use crate::base::state::ChargeType;
use crate::base::timestamp::Timestamp;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Number of decimals of an amount.
const DECIMALS: u32 = 6;
/// One unit in millionths.
const UNIT: u128 = 1_000_000;
/// A month in microseconds: 730 hours, the twelfth part of a year of 365 days (ADR 24).
const MONTH_MICROS: u128 = 730 * 3_600 * 1_000_000;

/// An amount of money, zero or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u128);

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The highest price, in units.
    pub const PRICE_UNITS_MAX: u64 = 1_000_000_000;

    /// Returns the amount of this number of millionths.
    pub const fn from_millionths(millionths: u128) -> Self {
        Self(millionths)
    }

    /// Returns the number of millionths.
    pub const fn millionths(self) -> u128 {
        self.0
    }

    /// Parses a decimal number in the spelling of JSON or of [`Display`](fmt::Display).
    ///
    /// Returns `None` for a negative number, or for fractions of a millionth.
    pub fn parse(number: &str) -> Option<Self> {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // Trailing zeros are not finer than a millionth.
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let digits: u128 = digits.parse().ok()?;
        let exponent: i64 = exponent.parse().ok()?;
        let shift = exponent.checked_add(DECIMALS.into())?.checked_sub(fraction.len().try_into().ok()?)?;
        // Checked: an exponent such as 1e999 is valid JSON.
        let ten = |power: u64| 10_u128.checked_pow(power.try_into().ok()?);
        if shift >= 0 {
            return digits.checked_mul(ten(shift.unsigned_abs())?).map(Self);
        }
        let divisor = ten(shift.unsigned_abs())?;
        digits.is_multiple_of(divisor).then(|| digits.checked_div(divisor).map(Self)).flatten()
    }

    /// Parses a price in a definition; none if the number is not an amount, or above [`Self::PRICE_UNITS_MAX`].
    pub fn price(number: &serde_json::Number) -> Option<Self> {
        let price = Self::parse(&number.to_string())?;
        (price.0 <= u128::from(Self::PRICE_UNITS_MAX) * UNIT).then_some(price)
    }

    /// Returns the cost of a monthly price between two times.
    ///
    /// The cost is the difference of the costs since 1970, each rounded down to a millionth. So the parts of a period
    /// cost exactly as much as the whole, in any division.
    pub fn over(self, start: Timestamp, end: Timestamp) -> Self {
        let since_1970 = |at: Timestamp| self.0.saturating_mul(at.micros().into()) / MONTH_MICROS;
        Self(since_1970(end).saturating_sub(since_1970(start)))
    }

    /// Subtracts an amount; the result is at least zero.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, millionths) = (self.0 / UNIT, self.0 % UNIT);
        if millionths == 0 {
            return units.fmt(f);
        }
        let fraction = format!("{millionths:06}");
        write!(f, "{units}.{}", fraction.trim_end_matches('0'))
    }
}

/// The prices in a service definition; also used for two sums of charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// The fee for each change instance.
    pub per_change: Amount,
    /// The fee for each month in service.
    pub monthly: Amount,
}

impl Prices {
    /// No fees.
    pub const NONE: Self = Self { per_change: Amount::ZERO, monthly: Amount::ZERO };

    /// Returns the sum of the two amounts.
    pub fn sum(self) -> Amount {
        self.per_change + self.monthly
    }

    const fn of(&mut self, charge_type: ChargeType) -> &mut Amount {
        match charge_type {
            ChargeType::CostPerChange => &mut self.per_change,
            ChargeType::MonthlyCost => &mut self.monthly,
        }
    }

    /// Adds the amount of a charge to the sum of its type.
    pub(crate) fn add(&mut self, charge_type: ChargeType, amount: Amount) {
        let sum = self.of(charge_type);
        *sum = *sum + amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn displayed(number: &str) -> Option<String> {
        Amount::parse(number).map(|amount| amount.to_string())
    }

    #[test]
    fn numbers_are_read_as_they_are_spelled() {
        for (number, amount) in [
            ("50", "50"),
            ("12.5", "12.5"),
            ("0.1", "0.1"),
            ("0", "0"),
            ("0.0", "0"),
            ("1e-6", "0.000001"),
            ("2.50e+1", "25"),
            ("999999999.999999", "999999999.999999"),
            ("0.100000000", "0.1"),
        ] {
            assert_eq!(displayed(number).as_deref(), Some(amount), "{number}");
        }
        for number in
            ["-1", "0.0000001", "1e-7", "1e99", "", ".", "1.2.3", "1e", "+1", "1e9223372036854775807"]
        {
            assert_eq!(displayed(number), None, "{number}");
        }
    }

    #[test]
    fn a_price_is_at_most_a_milliard() {
        let price = |json: &str| Amount::price(&serde_json::from_str(json).unwrap()).map(|p| p.to_string());
        assert_eq!(price("1000000000").as_deref(), Some("1000000000"));
        assert_eq!(price("0.000001").as_deref(), Some("0.000001"));
        assert_eq!(price("12.50").as_deref(), Some("12.5"));
        assert_eq!([price("1000000000.000001"), price("1000000001"), price("-0.5")], [None, None, None]);
    }

    #[test]
    fn a_month_costs_its_price_and_its_parts_what_all_of_it_does() {
        let at = |hours: u64| Timestamp::from_micros(1_700_000_000_000_000 + hours * 3_600_000_000);
        let price = Amount::parse("49.99").unwrap();
        assert_eq!(price.over(at(0), at(730)), price);
        assert_eq!(price.over(at(0), at(1460)), price + price);
        let parts: Amount = (0..730).map(|hour| price.over(at(hour), at(hour + 1))).sum();
        assert_eq!(parts, price);
        assert_eq!(price.over(at(7), at(7)), Amount::ZERO);
        assert_eq!(price.over(at(8), at(7)), Amount::ZERO);
    }
}
