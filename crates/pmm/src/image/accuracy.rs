//! Whether a classifier of CIFAR-10 sees the classes that were asked for.

use pmm_eval::image::{Beside, ClassAccuracy, class_accuracy};
use pmm_net::{FeatureError, FeatureNet};

use super::model::Model;
use super::real::Real;
use super::scored::Scored;
use crate::error::Error;

/// The classes of CIFAR-10, in the order of its labels.
const CIFAR10: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];
/// A classifier that is right less often on real images knows other classes.
const KNOWS: f64 = 0.5;

/// The accuracy on samples and on held-out images, or the reason why there is none.
pub(crate) fn accuracy(
    net: &FeatureNet,
    model: &Model,
    drawn: &Scored,
    real: &Real,
) -> Result<Result<Beside<ClassAccuracy>, String>, Error> {
    let Some(numbers) = cifar_numbers(&model.images().classes) else {
        return Ok(Err("the classes of the images are not those of CIFAR-10".into()));
    };
    let told = |images: &[&[u8]], labels: &[Option<u32>]| -> Result<Option<ClassAccuracy>, Error> {
        let (images, asked): (Vec<&[u8]>, Vec<u32>) = images
            .iter()
            .zip(labels)
            .filter_map(|(image, label)| Some((*image, *numbers.get((*label)? as usize)?)))
            .unzip();
        if images.is_empty() {
            return Ok(None);
        }
        Ok(Some(class_accuracy(&asked, &net.classes(&images, model.images().shape)?)?))
    };
    let count = drawn.images.len().min(real.test.len());
    let rows = &real.test.rows[..count];
    let held_out = match told(&real.test.pixels(count), &real.test.labels(model, rows)) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Err("the images given have no classes".into())),
        Err(error @ Error::Feature(FeatureError::NoClasses { .. })) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(error),
    };
    if held_out.share < KNOWS {
        return Ok(Err(format!(
            "{} is right in {:.0} % of the real images only, so the classes are not those of CIFAR-10",
            net.name(),
            100.0 * held_out.share
        )));
    }
    Ok(match told(&drawn.pixels(usize::MAX), &drawn.labels)? {
        Some(samples) => Ok(Beside { samples, held_out }),
        None => Err("the samples have no classes".into()),
    })
}

/// The labels of CIFAR-10 for classes that have its names or numbers.
fn cifar_numbers(classes: &[String]) -> Option<Vec<u32>> {
    let number = |class: &String| {
        let by_name = CIFAR10.iter().position(|name| name == class);
        by_name.or_else(|| class.parse().ok().filter(|number| *number < CIFAR10.len()))
    };
    let numbers: Vec<u32> =
        classes.iter().map(|class| number(class).map(|n| n as u32)).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_name_or_number() {
        let numbers = |names: &[&str]| cifar_numbers(&names.iter().map(|n| (*n).into()).collect::<Vec<_>>());
        assert_eq!(numbers(&["truck", "cat"]), Some(vec![9, 3]));
        assert_eq!(numbers(&["0", "7"]), Some(vec![0, 7]));
        assert_eq!((numbers(&["10"]), numbers(&["cat", "mouse"]), numbers(&[])), (None, None, None));
    }
}
