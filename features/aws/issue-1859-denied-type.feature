# Open, see also https://github.com/aws/karpenter-provider-aws/issues/8190.

@aws @issue-1859
Feature: Types that are denied leave the other types of a NodePool usable

  Policies of an organization allow some types of instances and deny others.

  @aws-1859-denied-type
  Scenario: Of the types of a NodePool all but one are denied
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And these faults:
      """
      faults:
        - name: a policy
          match: {operation: RunInstances, type: "[cr]*"}
          refuse: {code: UnauthorizedOperation}
      """
    And Karpenter
    When these objects are created:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [
                c5.xlarge, c5a.xlarge, c5d.xlarge, c5n.xlarge, c6a.xlarge, c6i.xlarge, c6id.xlarge, c6in.xlarge, c7a.xlarge, c7i.xlarge,
                r5.xlarge, r5a.xlarge, r5b.xlarge, r5d.xlarge, r5n.xlarge, r6a.xlarge, r6i.xlarge, r6id.xlarge, r7a.xlarge, r7i.xlarge,
                m6i.xlarge]}
      """
    And these objects are created:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: al2023@latest}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 10m
