"""Lance tables, landing folder and object stores; the only folder that imports lance or boto3."""
