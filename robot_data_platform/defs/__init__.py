"""The asset graph: thin rims around the layers below; the only folder that imports dagster."""
